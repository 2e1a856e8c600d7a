// Tiles of conv2d.tc: pixels, filters and depth, with the warps that have one and the slots for operands, for
// __TRI_SPECIALIZED__: 1 vectors of channels, 2 few channels, 3 groups, 4 groups of few channels, 0 all else.

#pragma tri configs MB in {128}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {0}; num_warps in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2
// For more channels, many filters and few pixels: conv2d.tune.json says where. Slots of warp groups (sm_90a) take more of both.
#pragma tri configs MB in {128}, NB in {64}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {4, 8}, num_stages in {3} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {4}, num_stages in {3} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {64}, NB in {64}, KB in {128}, VECTORS in {1}, FEW in {0}; num_warps in {4}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {128}, KB in {32}, VECTORS in {1}, FEW in {0}; num_warps in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64},  NB in {64}, KB in {16}, VECTORS in {1}, FEW in {0}; num_warps in {4} if __TRI_SPECIALIZED__ == 1 && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {64}, KB in {16}, VECTORS in {0}, FEW in {1}; num_warps in {4}, max_registers in {128} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 2 && __TRI_ARCH__ >= 900
#pragma tri configs MB in {64},  NB in {64}, KB in {16}, VECTORS in {0}, FEW in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 2 && __TRI_ARCH__ < 900
#pragma tri configs MB in {64},  NB in {64}, KB in {16}, VECTORS in {0}, FEW in {0}; num_warps in {4} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 2
#pragma tri configs MB in {64},  NB in {64}, KB in {8}, VECTORS in {0}, FEW in {0}; num_warps in {4} if !__TRI_SPECIALIZED__ && sizeof(TYPE) == 4
#pragma tri configs MB in {64},  NB in {64}, KB in {8}, VECTORS in {0}, FEW in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 2 && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {64}, KB in {64}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4}, num_stages in {3} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {256}, NB in {128}, KB in {64}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {8}, num_stages in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ == 900
#pragma tri configs MB in {128}, NB in {64}, KB in {32}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 2 && __TRI_ARCH_SPECIFIC__ != 900
#pragma tri configs MB in {64}, NB in {64}, KB in {16}, VECTORS in {1}, FEW in {0}, GROUPED in {2}; num_warps in {4} if __TRI_SPECIALIZED__ == 3 && sizeof(TYPE) == 4
#pragma tri configs MB in {128}, NB in {32}, KB in {32}, VECTORS in {1}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 2
#pragma tri configs MB in {128}, NB in {32}, KB in {16}, VECTORS in {1}, FEW in {0}, GROUPED in {1}; num_warps in {4} if __TRI_SPECIALIZED__ == 4 && sizeof(TYPE) == 4
